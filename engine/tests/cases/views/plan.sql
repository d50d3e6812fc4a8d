-- warning | view public.above is made again
DROP VIEW public.above;
-- warning | view public.shrinks is made again
DROP VIEW public.shrinks;
-- warning | view public.grows changes
CREATE OR REPLACE VIEW public.grows (id, a) AS
 SELECT id,
    a
   FROM public.t
  WHERE (id = ANY (ARRAY[1, 2]));
-- warning | view public.opt changes
CREATE OR REPLACE VIEW public.opt (id) AS
 SELECT id
   FROM public.t;
-- safe | view public.shrinks is made again
CREATE VIEW public.shrinks (id) AS
 SELECT id
   FROM public.t;
-- safe | view public.above is made again
CREATE VIEW public.above (id) AS
 SELECT id
   FROM public.shrinks;
-- safe | changes the comment on column public.grows.a
COMMENT ON COLUMN public.grows.a IS 'a column of a view';
