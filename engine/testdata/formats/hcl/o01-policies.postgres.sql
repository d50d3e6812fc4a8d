CREATE TABLE public.t (owner text NOT NULL);
ALTER TABLE public.t ENABLE ROW LEVEL SECURITY;
CREATE POLICY p1 ON public.t FOR SELECT TO reader, PUBLIC USING (owner = current_user);
COMMENT ON POLICY p1 ON public.t IS 'own rows';
CREATE POLICY p2 ON public.t FOR INSERT TO PUBLIC WITH CHECK (owner = current_user);
CREATE POLICY p3 ON public.t USING (true);
