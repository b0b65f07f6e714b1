-- The requests of the script `service`, for wrk. COFFER_TENANTS is the number of tenants; COFFER_KIND is a kind of request, if it is not the mixture.
local tenants, kind = tonumber(os.getenv("COFFER_TENANTS")), os.getenv("COFFER_KIND")
local headers = { ["Content-Type"] = "application/json" }
local body = string.format('{"title":"A new note","body":"%s"}', string.rep("several words of text ", 8))

-- Each thread of wrk loads this file for itself, and has other random numbers.
local threadCount = 0
function setup(thread)
    threadCount = threadCount + 1
    thread:set("id", threadCount)
end

function init() math.randomseed(1000 * id + os.time() % 1000) end

-- 65% lists, 15% single notes, 10% searches, 10% inserts.
local function any()
    local number = math.random(100)
    if number <= 65 then return "list" elseif number <= 80 then return "one" elseif number <= 90 then return "search" else return "insert" end
end

function request()
    local path, now = "/tenants/t" .. math.random(0, tenants - 1), kind or any()
    if now == "list" then return wrk.format("GET", path .. "/notes") end
    if now == "one" then return wrk.format("GET", path .. "/notes/" .. math.random(30)) end
    if now == "search" then return wrk.format("GET", path .. "/search/word" .. math.random(0, 319)) end
    return wrk.format("POST", path .. "/notes", headers, body)
end

function done(summary, latency)
    local errors = summary.errors
    io.write(string.format("%d %d %d %d %d\n", summary.requests, summary.duration, latency:percentile(50), latency:percentile(99),
        errors.status + errors.connect + errors.read + errors.write + errors.timeout))
end
