-- Publishes unique 10 KB pages: wrk -s publish.lua URL -- dropleaf KEY[,KEY…] | wastebin
local kind
local keys = {}
local counter = 0
local filler

function init(args)
  kind = args[1]
  for key in string.gmatch(args[2] or "", "[^,]+") do keys[#keys + 1] = key end
  -- Different in every run, so that no body was seen before.
  math.randomseed(os.time() + math.floor(os.clock() * 1e6))
  counter = math.random(1, 1e6) * 1000000
  local words = {"leaf", "page", "report", "figure", "table", "stone", "river", "total"}
  local parts, size = {}, 0
  while size < 10100 do
    local part = "<p>" .. words[math.random(8)] .. " " .. math.random(100000) .. " " .. words[math.random(8)] .. "</p>"
    parts[#parts + 1] = part
    size = size + #part
  end
  filler = table.concat(parts)
end

function request()
  counter = counter + 1
  local html = "<!doctype html><title>" .. counter .. "</title>" .. filler
  if kind == "wastebin" then
    return wrk.format("POST", "/", {["Content-Type"] = "application/json"}, '{"text":"' .. html .. '","extension":"html"}')
  end
  local body = "--cut\r\nContent-Disposition: form-data; name=\"file\"; filename=\"page.html\"\r\n\r\n" .. html .. "\r\n--cut--\r\n"
  return wrk.format("POST", "/sites", {
    ["Host"] = wrk.headers["Host"],
    ["Content-Type"] = "multipart/form-data; boundary=cut",
    ["Authorization"] = "Bearer " .. keys[counter % #keys + 1],
  }, body)
end
