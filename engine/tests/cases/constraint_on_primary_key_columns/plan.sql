-- warning | view public.v is made again
DROP VIEW public.v;
-- warning | constraint public.c.c_a_fkey is made again
ALTER TABLE public.c DROP CONSTRAINT c_a_fkey;
-- destructive | constraint public.p.p_pkey no longer protects the rows
ALTER TABLE public.p DROP CONSTRAINT p_pkey;
-- warning | constraint public.p.renamed is new; rows that break it make it fail
ALTER TABLE public.p ADD CONSTRAINT renamed PRIMARY KEY (a);
-- warning | constraint public.c.c_a_fkey is made again; rows that break it make it fail
ALTER TABLE public.c ADD CONSTRAINT c_a_fkey FOREIGN KEY (a) REFERENCES public.p(a);
-- safe | view public.v is made again
CREATE VIEW public.v (a, count, b) AS
 SELECT a,
    count(*) AS count,
    b
   FROM public.p
  GROUP BY a;
