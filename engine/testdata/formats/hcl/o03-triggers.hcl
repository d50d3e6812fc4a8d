schema "app" {}
table "t" {
  schema = schema.app
  column "id" { type = int }
}
trigger "Two events" {
  on = table.t
  before {
    insert = true
    update = true
    delete = false
  }
  for     = ROW
  as      = <<-SQL
    BEGIN
      NEW.id := NEW.id + 1;
      RETURN NEW;
    END;
  SQL
  comment = "counts"
}
trigger "cut" {
  on = table.app.t
  after { truncate = true }
  foreach = "statement"
  as      = "RETURN NULL;"
}
