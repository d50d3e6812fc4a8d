-- warning | constraint public.p.p_pkey is called renamed from now on; readers and writers that know the old name break
ALTER TABLE public.p RENAME CONSTRAINT p_pkey TO renamed;
