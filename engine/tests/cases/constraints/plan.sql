-- warning | constraint public.c.chk is made again
ALTER TABLE public.c DROP CONSTRAINT chk;
-- warning | constraint public.c.fk is made again
ALTER TABLE public.c DROP CONSTRAINT fk;
-- warning | changes the type of column p_id of public.c from integer to bigint; every value fits
ALTER TABLE public.c ALTER COLUMN p_id TYPE bigint;
-- warning | changes the type of column id of public.p from integer to bigint; every value fits
ALTER TABLE public.p ALTER COLUMN id TYPE bigint;
-- warning | constraint public.c.chk is made again; rows that break it make it fail
ALTER TABLE public.c ADD CONSTRAINT chk CHECK ((q = ANY (ARRAY[1, 2, 3])));
-- warning | constraint public.c.fk is made again; rows that break it make it fail
ALTER TABLE public.c ADD CONSTRAINT fk FOREIGN KEY (p_id) REFERENCES public.p(id) ON UPDATE CASCADE DEFERRABLE;
-- warning | constraint public.c.self is new; rows that break it make it fail
ALTER TABLE public.c ADD CONSTRAINT self FOREIGN KEY (q) REFERENCES public.c(id);
-- warning | constraint public.p.p_a_b_key is new; rows that break it make it fail
ALTER TABLE public.p ADD CONSTRAINT p_a_b_key UNIQUE (a, b) DEFERRABLE INITIALLY DEFERRED;
-- warning | constraint public.p.p_code is new; rows that break it make it fail
ALTER TABLE public.p ADD CONSTRAINT p_code UNIQUE NULLS NOT DISTINCT (code) INCLUDE (a);
