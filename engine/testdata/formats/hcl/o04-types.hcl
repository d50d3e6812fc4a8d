schema "a" {}
schema "b" {}
enum "a" "Mood" { values = ["sad", "it's"] }
domain "b" "pos" {
  type    = int
  null    = false
  default = 1
  check   = "VALUE > 0"
  comment = "positive"
}
composite "pair" {
  schema  = schema.b
  comment = "two"
  field "m" { type = enum.Mood }
  field "p" { type = sql("pos") }
}
range "fr" {
  schema       = schema.b
  subtype      = sql("float8")
  subtype_diff = "float8mi"
  comment      = "floats"
}
sequence "s" {
  schema   = schema.b
  type     = bigint
  start    = 5
  owned_by = table.t.column.id
  comment  = "seq"
}
table "t" {
  schema = schema.b
  column "id" {
    type    = bigint
    default = sql("nextval('b.s'::regclass)")
  }
  column "m" { type = enum.a.Mood }
  column "ms" { type = "Mood[]" }
  column "p" { type = pair }
  column "d" { type = double_precision }
  column "c" {
    type    = character_varying(20)
    collate = "C"
  }
  column "n" {
    type    = int
    null    = true
    default = null
  }
  column "e" {
    type        = text
    unique_expr = "lower(e)"
    comment     = "an expression"
  }
  primary_key {
    on { column = column.id }
  }
  index "ix" {
    columns = [column.e]
    ops     = "text_pattern_ops"
    where   = "e <> ')' -- not closed"
    comment = "partial"
  }
  unique "u" {
    columns        = [column.c]
    nulls_distinct = true
  }
  check { expr = "id > 0" }
  check { expr = "id < 1000" }
  checks  = ["d > 0"]
  comment = "a table"
  custom  = "WITH (fillfactor = 70)"
  platform "mysql" {
    override "engine" { value = "InnoDB" }
  }
}
