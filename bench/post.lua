-- An empty POST, as clients and catalogues send it to be told the terms.
wrk.method = "POST"
