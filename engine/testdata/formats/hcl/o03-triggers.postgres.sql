CREATE SCHEMA app;
CREATE TABLE app.t (id int NOT NULL);
CREATE FUNCTION ptah_trigger_app_t_two_events() RETURNS trigger AS $$
BEGIN
  NEW.id := NEW.id + 1;
  RETURN NEW;
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER "Two events" BEFORE INSERT OR UPDATE ON app.t FOR EACH ROW EXECUTE FUNCTION ptah_trigger_app_t_two_events();
COMMENT ON TRIGGER "Two events" ON app.t IS 'counts';
CREATE FUNCTION ptah_trigger_app_t_cut() RETURNS trigger AS $$
BEGIN
RETURN NULL;
END;
$$ LANGUAGE plpgsql;
CREATE TRIGGER cut AFTER TRUNCATE ON app.t FOR EACH STATEMENT EXECUTE FUNCTION ptah_trigger_app_t_cut();
