-- warning | trigger public.t.two is made again
DROP TRIGGER two ON public.t;
-- destructive | trigger three of public.t fires otherwise
ALTER TABLE public.t DISABLE TRIGGER three;
-- safe | view public.v is new
CREATE VIEW public.v (id) AS
 SELECT id
   FROM public.t;
-- safe | trigger public.t.four is new
CREATE CONSTRAINT TRIGGER four AFTER INSERT ON public.t DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN ((new.id > 1)) EXECUTE FUNCTION public.f();
-- safe | trigger public.t.two is made again
CREATE TRIGGER two AFTER DELETE ON public.t REFERENCING OLD TABLE AS gone FOR EACH STATEMENT EXECUTE FUNCTION public.f();
-- safe | trigger public.v.inst is new
CREATE TRIGGER inst INSTEAD OF INSERT ON public.v FOR EACH ROW EXECUTE FUNCTION public.f();
