-- destructive | view public.thing is removed
DROP VIEW public.thing;
-- warning | index public.swap is removed
DROP INDEX public.swap;
-- safe | sequence public.swap is new
CREATE SEQUENCE public.swap;
-- safe | table public.thing is new
CREATE TABLE public.thing (
  id integer
);
