-- safe | table public.a is new
CREATE TABLE public.a (
  id integer NOT NULL,
  b_id integer,
  CONSTRAINT a_pkey PRIMARY KEY (id)
);
-- safe | table public.b is new
CREATE TABLE public.b (
  id integer NOT NULL,
  a_id integer,
  CONSTRAINT b_pkey PRIMARY KEY (id)
);
-- safe | constraint public.a.a_b_id_fkey is new
ALTER TABLE public.a ADD CONSTRAINT a_b_id_fkey FOREIGN KEY (b_id) REFERENCES public.b(id);
-- safe | constraint public.b.b_a_id_fkey is new
ALTER TABLE public.b ADD CONSTRAINT b_a_id_fkey FOREIGN KEY (a_id) REFERENCES public.a(id);
