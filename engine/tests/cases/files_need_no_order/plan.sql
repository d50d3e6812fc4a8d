-- safe | function public.f(integer) is new
CREATE FUNCTION public.f(integer)
 RETURNS integer
 LANGUAGE sql
AS $function$SELECT $1 + (SELECT count(*)::int FROM t)$function$;
-- safe | table public.t is new
CREATE TABLE public.t (
  id integer
);
-- safe | table public.u is new
CREATE TABLE public.u (
  id integer NOT NULL,
  CONSTRAINT u_pkey PRIMARY KEY (id)
);
-- safe | constraint public.t.t_id_fkey is new
ALTER TABLE public.t ADD CONSTRAINT t_id_fkey FOREIGN KEY (id) REFERENCES public.u(id);
-- safe | view public.v is new
CREATE VIEW public.v (f) AS
 SELECT public.f(id) AS f
   FROM public.t;
