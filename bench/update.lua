-- Replaces the content of random sites: wrk -s update.lua URL -- KEY FILE, where FILE lists one site id per line.
local key
local ids = {}
local counter = 0

function init(args)
  key = args[1]
  for line in io.lines(args[2]) do ids[#ids + 1] = line end
  math.randomseed(os.time() + math.floor(os.clock() * 1e6))
  counter = math.random(1, 1e6) * 1000000
end

function request()
  counter = counter + 1
  local body = '{"html":"<!doctype html><title>' .. counter .. '</title>' .. string.rep("<p>updated text</p>", 50) .. '"}'
  return wrk.format("PUT", "/sites/" .. ids[math.random(#ids)], {
    ["Host"] = wrk.headers["Host"],
    ["Content-Type"] = "application/json",
    ["Authorization"] = "Bearer " .. key,
  }, body)
end
