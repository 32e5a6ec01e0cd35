-- Asks for random paths: wrk -s paths.lua URL -- FILE, where FILE lists one path per line.
local paths = {}

function init(args)
  for line in io.lines(args[1]) do paths[#paths + 1] = line end
  math.randomseed(os.time() + math.floor(os.clock() * 1e6))
end

function request()
  return wrk.format("GET", paths[math.random(#paths)])
end
