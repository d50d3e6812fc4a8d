CREATE TABLE public.t (id integer, a character varying(10) DEFAULT 'x'::varchar, b decimal(10,2), c boolean DEFAULT true, d timestamp with time zone DEFAULT CURRENT_TIMESTAMP,
  CONSTRAINT t_b_check CHECK (b = ANY (ARRAY[1, 2])));
CREATE VIEW v AS SELECT id, a, b, c, d FROM public.t WHERE a ~~ 'x%' OR (b >= 1 AND b <= 2);
