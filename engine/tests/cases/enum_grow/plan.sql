-- warning | enum public.mood gets a value
ALTER TYPE public.mood ADD VALUE 'angry' BEFORE 'sad';
-- warning | enum public.mood gets a value
ALTER TYPE public.mood ADD VALUE 'so-so' AFTER 'sad';
-- warning | enum public.mood gets a value
ALTER TYPE public.mood ADD VALUE 'it''s "great"' AFTER 'happy';
