-- What a Neovim user sees, asked of the real client. neovim.py prepares the workspace and says in the environment where things are.
local given = vim.json.decode(vim.env.MEMIDEX_NEOVIM)
local passed, failed = 0, 0

local function say(line)
  io.stdout:write(line .. '\n')
  io.stdout:flush()
end

local function step(name, work)
  local start = vim.loop.hrtime()
  local ok, problem = xpcall(work, debug.traceback)
  if ok then
    passed = passed + 1
    say(('%6d ms  %s'):format((vim.loop.hrtime() - start) / 1e6, name))
  else
    failed = failed + 1
    say(('   FAILED  %s: %s'):format(name, problem))
  end
end

--- Not one vim.wait: its limit does not hold where what it looks for waits too.
local ended
local function until_(what, look, limit)
  local deadline = vim.loop.hrtime() + (limit or 20000) * 1e6
  repeat
    local found = look()
    if found then return found end
    assert(not ended, 'the server is gone')
    vim.wait(50)
  until vim.loop.hrtime() > deadline
  error('not in time: ' .. what)
end

local client_id = vim.lsp.start_client({
  name = 'memidex',
  cmd = given.command,
  root_dir = given.workspace,
  on_exit = function(code, signal)
    ended = { code = code, signal = signal }
  end,
})
assert(client_id, 'the server did not start')
local client = vim.lsp.get_client_by_id(client_id)

local function open(file)
  vim.cmd('silent edit ' .. vim.fn.fnameescape(file))
  local buffer = vim.api.nvim_get_current_buf()
  assert(vim.lsp.buf_attach_client(buffer, client_id))
  return buffer
end

--- Sends a request for a buffer and waits for its answer.
local function ask(method, buffer, params)
  until_('the server is initialized', function() return client.initialized end)
  local answer, problem = client.request_sync(method, params, 20000, buffer)
  assert(answer, method .. ': ' .. tostring(problem))
  assert(not answer.err, method .. ': ' .. vim.inspect(answer.err))
  return answer.result
end

local function at(buffer, row, column)
  return { textDocument = { uri = vim.uri_from_bufnr(buffer) }, position = { line = row, character = column } }
end

--- Row and column (from 0) of a text in a buffer.
local function find(buffer, text)
  for row, line in ipairs(vim.api.nvim_buf_get_lines(buffer, 0, -1, false)) do
    local column = line:find(text, 1, true)
    if column then return row - 1, column - 1 end
  end
  error('not in the buffer: ' .. text)
end

local function whole(buffer)
  return table.concat(vim.api.nvim_buf_get_lines(buffer, 0, -1, false), '\n')
end

local function fault(buffer)
  for _, one in ipairs(vim.diagnostic.get(buffer)) do
    if one.message:find('fct', 1, true) then return one end
  end
end

local function hover(buffer)
  local row, column = find(buffer, 'id: "')
  local result = ask('textDocument/hover', buffer, at(buffer, row, column + 8))
  assert(result and result.contents, 'no hover')
  return type(result.contents) == 'table' and result.contents.value or result.contents
end

local function trust(text)
  return text:match('[01]%.%d%d')
end

--- Does what choosing a code action does.
local function perform(buffer, action)
  if not action.edit and action.data then action = ask('codeAction/resolve', buffer, action) end
  if action.edit then vim.lsp.util.apply_workspace_edit(action.edit, client.offset_encoding) end
  local command = action.command
  if type(command) == 'string' then command = action end
  if command then ask('workspace/executeCommand', buffer, { command = command.command, arguments = command.arguments }) end
end

local record

step('diagnostics arrive, on the value that is wrong', function()
  record = open(given.record)
  local one = until_('a diagnostic', function() return fault(record) end)
  local row, column = find(record, 'fct')
  assert(one.lnum == row, 'the row is ' .. one.lnum)
  assert(one.col <= column and column <= one.end_col, 'the column is ' .. one.col)
  assert(one.source == 'memidex', 'the source is ' .. tostring(one.source))
  say('           ' .. one.message)
end)

step('a code action puts it right', function()
  local one = assert(fault(record), 'no diagnostic')
  local range = one.user_data and one.user_data.lsp and one.user_data.lsp.range
    or { start = { line = one.lnum, character = one.col }, ['end'] = { line = one.end_lnum, character = one.end_col } }
  local raw = { range = range, message = one.message, severity = one.severity, source = one.source,
    code = one.code or (one.user_data and one.user_data.lsp and one.user_data.lsp.code) }
  local actions = ask('textDocument/codeAction', record, {
    textDocument = { uri = vim.uri_from_bufnr(record) },
    range = range,
    context = { diagnostics = { raw }, only = { 'quickfix' } },
  })
  local fix
  for _, action in ipairs(actions or {}) do
    if not fix and action.title:find('%f[%w]fact%f[%W]') then fix = action end
  end
  assert(fix, 'no fix among ' .. vim.inspect(vim.tbl_map(function(action) return action.title end, actions or {})))
  say('           ' .. fix.title)
  perform(record, fix)
  until_('the text is right', function() return whole(record):find('kind: "fact"', 1, true) end)
  until_('the diagnostic goes', function() return not fault(record) end)
  vim.cmd('silent write')
  assert(table.concat(vim.fn.readfile(given.record), '\n') == given.whole, 'something else of the file changed')
end)

local before

step('hover tells status and trust', function()
  local text = hover(record)
  before = assert(trust(text), 'no trust in ' .. text)
  assert(text:find('active') or text:find('candidate') or text:find('superseded') or text:find('deprecated'), 'no status in ' .. text)
  say('           ' .. text:sub(1, 160):gsub('%s+', ' '))
end)

step('definition goes across a relation', function()
  local relations = open(given.relations)
  local row, column = find(relations, given.target)
  local result = until_('a definition', function()
    local answer = ask('textDocument/definition', relations, at(relations, row, column + 4))
    return answer and (answer.uri and answer or answer[1])
  end)
  local uri = result.uri or result.targetUri
  assert(vim.uri_to_fname(uri) == given.destination, 'went to ' .. uri)
end)

step('a change from outside is noticed, though this client watches no files', function()
  vim.api.nvim_set_current_buf(record)
  local log = io.open(given.log, 'a')
  log:write(given.event .. '\n')
  log:close()
  local now = until_('another trust', function()
    local found = trust(hover(record))
    return found ~= before and found
  end)
  say('           trust ' .. before .. ', then ' .. now)
end)

--- Chooses the code action whose title begins so from Neovim's own menu, on the id line of a record.
local function choose(buffer, words)
  local row, column = find(buffer, 'id: "')
  vim.api.nvim_win_set_cursor(0, { row + 1, column + 5 })
  until_('the server is initialized', function() return client.initialized end)
  local titles
  local before_it = vim.ui.select
  vim.ui.select = function(items, options, chosen)
    titles = vim.tbl_map(options.format_item, items)
    for index, title in ipairs(titles) do
      if title:sub(1, #words) == words then return chosen(items[index], index) end
    end
    chosen(nil)
  end
  vim.lsp.buf.code_action()
  local asked = pcall(until_, 'the menu', function() return titles end)
  vim.ui.select = before_it
  assert(asked, 'no menu of code actions')
  say('           ' .. table.concat(titles, ' | '))
end

--- Chooses an action and gives what the log has more than before; what was there stays.
local function decide(buffer, words)
  local before_it = table.concat(vim.fn.readfile(given.candidate_log), '\n')
  choose(buffer, words)
  local log = until_('the log grows', function()
    local now = table.concat(vim.fn.readfile(given.candidate_log), '\n')
    return #now > #before_it and now
  end)
  assert(log:sub(1, #before_it) == before_it, 'what was there stays')
  return log:sub(#before_it + 1)
end

step('a candidate is accepted, in its log and in what is shown', function()
  local candidate = open(given.candidate)
  local more = decide(candidate, 'Accept: ')
  local told = vim.tbl_map(function(line)
    local event = vim.json.decode(line)
    return event.type .. ' by ' .. event.origin
  end, vim.split(vim.trim(more), '\n'))
  assert(vim.deep_equal(told, { 'confirmed by user', 'promoted by user' }), 'it is promoted: ' .. more)
  until_('the hover says so', function() return hover(candidate):find('**active**', 1, true) end)
  vim.cmd('silent checktime')
  assert(not vim.bo[candidate].modified, 'the text of the record is as it was')
end)

step('and that is undone, by events that take events back', function()
  local candidate = vim.api.nvim_get_current_buf()
  local more = decide(candidate, 'Undo: accept')
  assert(more:find('"retracted"', 1, true), 'it is taken back: ' .. more)
  until_('the hover says so', function() return hover(candidate):find('**candidate**', 1, true) end)
end)

step('the server ends when the client says so, cleanly', function()
  client.stop()
  until_('the end of the process', function() return ended end)
  assert(ended.code == 0, 'exit code ' .. ended.code .. ', signal ' .. ended.signal)
end)

say(('%d passed, %d failed'):format(passed, failed))
if failed > 0 then vim.cmd('cquit 1') else vim.cmd('qall!') end
