-- Asks for random paths: wrk -s paths.lua URL -- FILE [PAUSE], where FILE lists one path per line. With PAUSE, each connection
-- waits that many milliseconds on average before a request, so that the viewers themselves do not fill the machine.
local paths = {}

function init(args)
  for line in io.lines(args[1]) do paths[#paths + 1] = line end
  math.randomseed(os.time() + math.floor(os.clock() * 1e6))
  if args[2] then
    local longest = 2 * tonumber(args[2])
    function delay() return math.random(0, longest) end
  end
end

function request()
  return wrk.format("GET", paths[math.random(#paths)])
end
