-- safe | table public.t is new
CREATE TABLE public.t (
  id integer,
  n bigint
);
-- safe | function public.cnt() is new
CREATE FUNCTION public.cnt()
 RETURNS bigint
 LANGUAGE sql
BEGIN ATOMIC
 SELECT count(*) AS count
    FROM public.t;
END;
-- safe | function public.latest(public.t) is new
CREATE FUNCTION public.latest(r public.t)
 RETURNS integer
 LANGUAGE sql
 STABLE
AS $function$SELECT 1$function$;
-- safe | default public.t.n is new
ALTER TABLE public.t ALTER COLUMN n SET DEFAULT public.cnt();
-- safe | constraint public.t.t_check is new
ALTER TABLE public.t ADD CONSTRAINT t_check CHECK ((public.latest(t.*) > 0));
