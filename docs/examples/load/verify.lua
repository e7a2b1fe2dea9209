-- Bodies and counts for wrk: docs/guides/load-testing.md. Run it in the folder of the bodies.
local bodies = {}
for i = 1, 200 do
  -- wrk has no place for its connections while the files are open.
  local file = io.open("verify-" .. i .. ".json")
  bodies[i] = file:read("*a")
  file:close()
end
wrk.method = "POST"
wrk.headers["Authorization"] = "Bearer " .. os.getenv("CS_API_KEY")
wrk.headers["Content-Type"] = "application/json"

local threads = {}
approved = 0
function setup(thread) table.insert(threads, thread) end
function request() return wrk.format(nil, nil, nil, bodies[math.random(#bodies)]) end
function response(status, _, body)
  if status == 200 and body:find('"verdict":"approved"', 1, true) then approved = approved + 1 end
end
function done()
  for _, thread in ipairs(threads) do print("approved: " .. thread:get("approved")) end
end
