-- warning | PUBLIC gains privileges on function public.f()
GRANT EXECUTE ON FUNCTION public.f() TO PUBLIC;
-- warning | reader loses privileges on table public.t
REVOKE INSERT ON TABLE public.t FROM reader;
-- warning | reader gains privileges on table public.t
GRANT SELECT ON TABLE public.t TO reader WITH GRANT OPTION;
-- warning | reader gains privileges on sequence public.s
GRANT USAGE ON SEQUENCE public.s TO reader;
-- warning | PUBLIC gains privileges on table public.t
GRANT SELECT ON TABLE public.t TO PUBLIC;
-- warning | reader gains privileges on column public.t.a
GRANT UPDATE (a) ON TABLE public.t TO reader;
