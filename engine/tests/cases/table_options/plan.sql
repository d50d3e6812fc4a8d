-- destructive | table public.t changes
ALTER TABLE public.t SET UNLOGGED;
-- safe | table public.t changes
ALTER TABLE public.t SET (fillfactor='80', toast.autovacuum_enabled='false');
-- safe | table public.t changes
ALTER TABLE public.t RESET (autovacuum_enabled);
-- safe | column a of public.t is stored otherwise from now on
ALTER TABLE public.t ALTER COLUMN a SET STORAGE DEFAULT;
-- safe | column a of public.t is compressed otherwise from now on
ALTER TABLE public.t ALTER COLUMN a SET COMPRESSION pglz;
-- safe | column a of public.t is sampled otherwise
ALTER TABLE public.t ALTER COLUMN a SET STATISTICS 500;
-- safe | sequence public.u_id_seq is new
CREATE UNLOGGED SEQUENCE public.u_id_seq AS integer;
-- safe | table public.u is new
CREATE UNLOGGED TABLE public.u (
  id integer DEFAULT nextval('public.u_id_seq'::regclass) NOT NULL,
  a text
) WITH (fillfactor='50');
-- safe | column a of public.u is stored otherwise from now on
ALTER TABLE public.u ALTER COLUMN a SET STORAGE PLAIN;
-- safe | sequence owner public.u_id_seq is new
ALTER SEQUENCE public.u_id_seq OWNED BY public.u.id;
