schema "public" {}
table "t" {
  schema = schema.public
  column "owner" { type = text }
  row_security {
    enabled = true
    comment = "rows"
  }
}
policy "p1" {
  on      = table.t
  for     = SELECT
  to      = [role.reader, PUBLIC]
  using   = "owner = current_user"
  comment = "own rows"
}
policy "p2" {
  on    = table.t
  for   = INSERT
  to    = ["PUBLIC"]
  check = "owner = current_user -- theirs"
}
policy "p3" {
  on    = table.t
  using = true
}
