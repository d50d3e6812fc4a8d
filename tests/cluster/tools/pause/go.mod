module ptah.run/tools/pause

go 1.26.0
