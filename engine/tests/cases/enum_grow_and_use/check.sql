SELECT m::text = 'happy' AND ms::text = '{sad,happy}' FROM t
