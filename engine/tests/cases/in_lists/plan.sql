-- safe | table public.u is new
CREATE TABLE public.u (
  a character varying(10),
  c character varying GENERATED ALWAYS AS (
CASE
    WHEN ((a)::text = ANY (ARRAY[('x'::character varying)::text, ('y'::character varying)::text])) THEN 'z'::text
    ELSE NULL::text
END) STORED,
  CONSTRAINT u_a_check CHECK (((a)::text = ANY (ARRAY[('x'::character varying)::text, ('y'::character varying)::text])))
);
