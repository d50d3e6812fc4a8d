schema "public" {}
table "t" {
  schema = schema.public
  column "id" { type = int }
}
view "v" {
  schema       = schema.public
  as           = "SELECT id FROM t WHERE id > 0"
  check_option = LOCAL
  comment      = "a view"
}
materialized "m" {
  schema  = schema.public
  as      = <<SQL
SELECT id
FROM t -- all of it
;
SQL
  comment = "mat"
}
function "f" {
  schema = schema.public
  lang   = SQL
  return = sql("TABLE (b int)")
  arg "A" { type = int }
  volatility = STABLE
  security   = DEFINER
  as         = "SELECT a"
  comment    = "one"
}
function "f" {
  schema  = schema.public
  lang    = "plpgsql"
  params  = "x int DEFAULT 1, x2 int DEFAULT 2, OUT y text"
  return  = "text"
  as      = "BEGIN y := '$$' || x; END"
}
