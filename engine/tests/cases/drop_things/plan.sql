-- destructive | view public.v is removed
DROP VIEW public.v;
-- warning | index public.t_a is removed
DROP INDEX public.t_a;
-- destructive | constraint public.kept.kept_gone_id_fkey no longer protects the rows
ALTER TABLE public.kept DROP CONSTRAINT kept_gone_id_fkey;
-- destructive | constraint public.t.t_b_key no longer protects the rows
ALTER TABLE public.t DROP CONSTRAINT t_b_key;
-- destructive | constraint public.t.t_c_check no longer protects the rows
ALTER TABLE public.t DROP CONSTRAINT t_c_check;
-- destructive | column public.t.a is removed with its values
ALTER TABLE public.t DROP COLUMN a;
-- destructive | column public.t.b is removed with its values
ALTER TABLE public.t DROP COLUMN b;
-- destructive | table public.gone is removed with all its rows
DROP TABLE public.gone;
-- destructive | function public.f() is removed
DROP FUNCTION public.f();
-- destructive | sequence public.s is removed with its position
DROP SEQUENCE public.s;
-- destructive | enum public.mood is removed
DROP TYPE public.mood;
