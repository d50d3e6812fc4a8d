-- safe | sequence public.orders_id_seq is new
CREATE SEQUENCE public.orders_id_seq AS integer;
-- safe | table public.orders is new
CREATE TABLE public.orders (
  id integer DEFAULT nextval('public.orders_id_seq'::regclass) NOT NULL,
  user_id bigint NOT NULL,
  note text,
  CONSTRAINT orders_pkey PRIMARY KEY (id)
);
-- safe | table public.users is new
CREATE TABLE public.users (
  id bigint GENERATED ALWAYS AS IDENTITY NOT NULL,
  name character varying(50) DEFAULT 'nobody'::character varying NOT NULL,
  "Mixed Case" text COLLATE pg_catalog."C",
  age integer,
  created timestamp with time zone DEFAULT now() NOT NULL,
  full_name text GENERATED ALWAYS AS (((name)::text || '!'::text)) STORED,
  CONSTRAINT users_age_check CHECK ((age > 0)),
  CONSTRAINT users_name_key UNIQUE (name),
  CONSTRAINT users_pkey PRIMARY KEY (id)
);
-- safe | sequence owner public.orders_id_seq is new
ALTER SEQUENCE public.orders_id_seq OWNED BY public.orders.id;
-- safe | constraint public.orders.orders_user_id_fkey is new
ALTER TABLE public.orders ADD CONSTRAINT orders_user_id_fkey FOREIGN KEY (user_id) REFERENCES public.users(id) ON DELETE CASCADE;
-- safe | index public."Odd Index" is new
CREATE UNIQUE INDEX "Odd Index" ON public.orders USING btree (user_id DESC NULLS LAST, note text_pattern_ops);
-- safe | index public.orders_note is new
CREATE INDEX orders_note ON public.orders USING btree (lower(note)) WHERE (note IS NOT NULL);
-- safe | changes the comment on table public.users
COMMENT ON TABLE public.users IS 'people, it''s';
-- safe | changes the comment on column public.users."Mixed Case"
COMMENT ON COLUMN public.users."Mixed Case" IS 'odd';
