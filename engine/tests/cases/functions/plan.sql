-- warning | index public.t_m is made again
DROP INDEX public.t_m;
-- warning | function public.b(integer) is made again
DROP FUNCTION public.b(x integer);
-- destructive | function public.over(text) is removed
DROP FUNCTION public.over(x text);
-- warning | function public.renamed(integer) is made again
DROP FUNCTION public.renamed(x integer);
-- warning | function public.a(integer) changes; others may call it
CREATE OR REPLACE FUNCTION public.a(x integer)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
AS $function$ SELECT x + 2 $function$;
-- warning | function public.p(integer) changes; others may call it
CREATE OR REPLACE PROCEDURE public.p(IN x integer)
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO ''
AS $procedure$ BEGIN PERFORM 1; END $procedure$;
-- safe | function public.b(integer) is made again
CREATE FUNCTION public.b(x integer)
 RETURNS bigint
 LANGUAGE sql
AS $function$SELECT 1::bigint$function$;
-- safe | function public.later() is new
CREATE FUNCTION public.later()
 RETURNS SETOF public.t
 LANGUAGE sql
AS $function$SELECT * FROM t$function$;
-- safe | function public.renamed(integer) is made again
CREATE FUNCTION public.renamed(y integer)
 RETURNS integer
 LANGUAGE sql
 IMMUTABLE
AS $function$SELECT y$function$;
-- safe | index public.t_m is made again
CREATE INDEX t_m ON public.t USING btree (public.renamed(m));
-- warning | PUBLIC loses privileges on function public.b(integer)
REVOKE EXECUTE ON FUNCTION public.b(x integer) FROM PUBLIC;
-- warning | reader gains privileges on function public.b(integer)
GRANT EXECUTE ON FUNCTION public.b(x integer) TO reader;
