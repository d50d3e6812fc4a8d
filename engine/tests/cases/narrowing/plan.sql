-- warning | default public.t.a is made again
ALTER TABLE public.t ALTER COLUMN a DROP DEFAULT;
-- destructive | changes the type of column a of public.t from text to integer; values may be altered or refused
ALTER TABLE public.t ALTER COLUMN a TYPE integer USING a::integer;
-- destructive | changes the type of column b of public.t from character varying(20) to character varying(10); values may be altered or refused
ALTER TABLE public.t ALTER COLUMN b TYPE character varying(10);
-- destructive | changes the type of column c of public.t from timestamp with time zone to date; values may be altered or refused
ALTER TABLE public.t ALTER COLUMN c TYPE date USING c::date;
-- destructive | changes the type of column d of public.t from bigint to text; values may be altered or refused
ALTER TABLE public.t ALTER COLUMN d TYPE text COLLATE pg_catalog."C" USING d::text;
-- safe | default public.t.a is made again
ALTER TABLE public.t ALTER COLUMN a SET DEFAULT 1;
