-- warning | trigger public.t.t_n_upd is made again
DROP TRIGGER t_n_upd ON public.t;
-- warning | view public.v2 is made again
DROP VIEW public.v2;
-- warning | view public.v1 is made again
DROP VIEW public.v1;
-- warning | default public.t.n is made again
ALTER TABLE public.t ALTER COLUMN n DROP DEFAULT;
-- warning | column public.t.twice is made again
ALTER TABLE public.t DROP COLUMN twice;
-- warning | changes the type of column n of public.t from integer to bigint; every value fits
ALTER TABLE public.t ALTER COLUMN n TYPE bigint;
-- warning | column public.t.twice is made again
ALTER TABLE public.t ADD COLUMN twice bigint GENERATED ALWAYS AS ((n * 2)) STORED;
-- safe | default public.t.n is made again
ALTER TABLE public.t ALTER COLUMN n SET DEFAULT 5;
-- safe | view public.v1 is made again
CREATE VIEW public.v1 (id, n) AS
 SELECT id,
    n
   FROM public.t;
-- safe | view public.v2 is made again
CREATE VIEW public.v2 (n) AS
 SELECT n
   FROM public.v1;
-- safe | trigger public.t.t_n_upd is made again
CREATE TRIGGER t_n_upd BEFORE UPDATE OF n ON public.t FOR EACH ROW EXECUTE FUNCTION public.trg();
-- safe | changes the comment on view public.v2
COMMENT ON VIEW public.v2 IS 'kept';
-- warning | reader gains privileges on view public.v2
GRANT SELECT ON TABLE public.v2 TO reader;
