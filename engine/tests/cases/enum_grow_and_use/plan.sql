-- warning | view public.v is made again
DROP VIEW public.v;
-- warning | index public.t_m is made again
DROP INDEX public.t_m;
-- warning | default public.t.m is made again
ALTER TABLE public.t ALTER COLUMN m DROP DEFAULT;
-- warning | function public.f(public.mood) is made again
DROP FUNCTION public.f(m public.mood);
-- safe | enum public.mood is replaced: it cannot be changed in place
ALTER TYPE public.mood RENAME TO mood__ptah_old;
-- safe | enum public.mood is made again
CREATE TYPE public.mood AS ENUM ('sad', 'fine', 'happy');
-- warning | column m of public.t moves to the new enum public.mood
ALTER TABLE public.t ALTER COLUMN m TYPE public.mood USING m::text::public.mood;
-- warning | column ms of public.t moves to the new enum public.mood
ALTER TABLE public.t ALTER COLUMN ms TYPE public.mood[] USING ms::text[]::public.mood[];
-- safe | function public.f(public.mood) is made again
CREATE FUNCTION public.f(m public.mood)
 RETURNS text
 LANGUAGE sql
AS $function$ SELECT m::text $function$;
-- safe | default public.t.m is made again
ALTER TABLE public.t ALTER COLUMN m SET DEFAULT 'fine'::public.mood;
-- safe | index public.t_m is made again
CREATE INDEX t_m ON public.t USING btree (m) WHERE (m = 'sad'::public.mood);
-- safe | view public.v is made again
CREATE VIEW public.v (m) AS
 SELECT m
   FROM public.t;
-- safe | nothing uses the old enum public.mood any more
DROP TYPE public.mood__ptah_old;
-- safe | changes the comment on enum public.mood
COMMENT ON TYPE public.mood IS 'how it is';
