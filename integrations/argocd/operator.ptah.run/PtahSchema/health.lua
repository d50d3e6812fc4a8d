-- What Argo CD shows for a PtahSchema.
--
-- Generation comes first: what is said of an older one is not said of this one. Then Ready. False has three meanings,
-- told apart by what stands beside it: a person decides (Suspended), an edit is needed (Degraded), or it goes on.
-- A failure that may pass by itself is Progressing, so that a database that still starts fails no sync; the operator
-- says which it is by the reason of Reconciling. Any other failure is Degraded although it is tried again: nothing
-- will change until somebody does something, and a sync that waited for it would wait for ever.

local function condition(kind)
  for _, found in ipairs((obj.status or {}).conditions or {}) do
    if found.type == kind then
      return found
    end
  end
  return { status = "", reason = "", message = "" }
end

if obj.metadata.deletionTimestamp ~= nil then
  return { status = "Progressing", message = "it is being deleted" }
end

if obj.status == nil or obj.status.observedGeneration ~= obj.metadata.generation then
  return { status = "Progressing", message = "the operator has not answered this generation yet" }
end

local ready = condition("Ready")
local reconciling = condition("Reconciling")

if ready.status == "True" then
  return { status = "Healthy", message = ready.message }
end

local decided_by_people = { AwaitingApproval = true, Suspended = true, ApplyDisabled = true }
if ready.status == "False" and decided_by_people[ready.reason] then
  return { status = "Suspended", message = ready.message }
end

if condition("Stalled").status == "True" then
  return { status = "Degraded", message = condition("Stalled").message }
end

local failed = condition("ReconciliationFailed")
if failed.status == "True" and reconciling.reason == "Waiting" then
  return { status = "Progressing", message = failed.message }
end
if failed.status == "True" and (ready.status == "False" or reconciling.reason == "OperationFailed") then
  return { status = "Degraded", message = failed.message }
end

return { status = "Progressing", message = ready.message }
