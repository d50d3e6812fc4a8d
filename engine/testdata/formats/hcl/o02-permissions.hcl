schema "public" {}
table "t" {
  schema = schema.public
  column "id" { type = int }
}
view "v" {
  schema = schema.public
  as     = "SELECT id FROM t;"
}
sequence "s" {
  schema = schema.public
}
permission {
  to         = role.reader
  for        = table.t
  privileges = [SELECT, INSERT]
  grantable  = true
  comment    = "why"
}
permission {
  to         = role.ro
  for        = schema.public
  privileges = ["USAGE"]
}
permission {
  to         = "PUBLIC"
  for        = view.v
  privileges = [SELECT]
}
permission {
  to         = "ro"
  for        = sequence.s
  privileges = [USAGE, "select"]
}
