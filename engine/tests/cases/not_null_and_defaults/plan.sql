-- warning | default public.t.a is removed
ALTER TABLE public.t ALTER COLUMN a DROP DEFAULT;
-- destructive | column c of public.t admits NULL: a protection is removed
ALTER TABLE public.t ALTER COLUMN c DROP NOT NULL;
-- warning | rows where column id of public.t is NULL make it fail
ALTER TABLE public.t ALTER COLUMN id SET NOT NULL;
-- safe | default public.t.b is new
ALTER TABLE public.t ALTER COLUMN b SET DEFAULT (1 + 2);
