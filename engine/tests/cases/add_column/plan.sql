-- safe | column public.t.a is new
ALTER TABLE public.t ADD COLUMN a text;
-- safe | column public.t.b is new
ALTER TABLE public.t ADD COLUMN b integer DEFAULT 7 NOT NULL;
-- warning | column public.t.c is new
ALTER TABLE public.t ADD COLUMN c timestamp with time zone DEFAULT now();
-- safe | changes the comment on column public.t.a
COMMENT ON COLUMN public.t.a IS 'new';
