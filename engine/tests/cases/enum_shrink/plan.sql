-- warning | constraint public.t.t_m_check is made again
ALTER TABLE public.t DROP CONSTRAINT t_m_check;
-- warning | default public.t.m is made again
ALTER TABLE public.t ALTER COLUMN m DROP DEFAULT;
-- safe | enum public.mood is replaced: it cannot be changed in place
ALTER TYPE public.mood RENAME TO mood__ptah_old;
-- safe | enum public.mood is made again
CREATE TYPE public.mood AS ENUM ('happy', 'sad');
-- destructive | column m of public.t moves to the new enum public.mood
ALTER TABLE public.t ALTER COLUMN m TYPE public.mood USING m::text::public.mood;
-- safe | default public.t.m is made again
ALTER TABLE public.t ALTER COLUMN m SET DEFAULT 'happy'::public.mood;
-- warning | constraint public.t.t_m_check is made again; rows that break it make it fail
ALTER TABLE public.t ADD CONSTRAINT t_m_check CHECK ((m <> 'sad'::public.mood));
-- destructive | nothing uses the old enum public.mood any more
DROP TYPE public.mood__ptah_old;
