variable "names" {
  type    = list(string)
  default = ["a", "b"]
}
variable "wide" {
  type    = bool
  default = false
}
locals {
  later = join(", ", local.upper)
  upper = [for name in var.names : upper(name)]
  sizes = { for at, name in var.names : name => (at + 1) * 10 }
}
dynamic "schema" {
  for_each = toset(["one", "two"])
  labels   = [schema.value]
  content {
    comment = "schema ${schema.value}"
  }
}
table "t" {
  schema  = schema.one
  comment = "has ${local.later}%{ if var.wide } and more%{ else } only%{ endif }"
  dynamic "column" {
    for_each = local.sizes
    iterator = it
    labels   = ["c_${it.key}"]
    content {
      type    = sql("varchar(${it.value})")
      null    = it.key == "b" ? true : false
      default = it.key == "a" ? sql("upper('x')") : null
    }
  }
  index "i" {
    dynamic "on" {
      for_each = [for name in var.names : "c_${name}" if name != "z"]
      content {
        column = on.value
        desc   = try(on.nothing, on.key == 0)
      }
    }
  }
}
