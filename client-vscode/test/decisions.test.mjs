// What the client adds to a decision, on a screen that is told what the person does.
import assert from 'node:assert/strict';
import test from 'node:test';
import { build } from 'esbuild';

const { outputFiles } = await build({ entryPoints: ['src/decisions.ts'], bundle: true, platform: 'node', format: 'esm', write: false });
const { run } = await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);

const event = (id, at, more = {}) => ({ id, at, origin: 'user', live: true, ...more });
const card = (more = {}) => ({ id: 'fact-a', shortId: 'MEM-001', status: 'active', events: [event('old', '1'), event('e1', '2'), event('e2', '2')], ...more });

/** One command: what was sent to the server and shown on the screen. `answers` is the server's, `typed` and `presses` the person's. */
async function ran(name, args, answers, { here, typed = [], presses = false, notifies = true } = {}) {
  const sent = [];
  const shown = [];
  const screen = {
    here: () => here,
    ask: async (title) => (shown.push(`asked: ${title}`), typed.shift()),
    warn: (message) => void shown.push(`warning: ${message}`),
    tell: async (message, button) => (shown.push(button ? `${message} [${button}]` : message), Boolean(presses && button)),
    hint: (message) => void shown.push(`hint: ${message}`),
    compare: async (...both) => void shown.push(both.join(' ↔ ')),
    notifies: () => notifies,
  };
  const next = async (command, [argument]) => (sent.push([command, argument]), answers.shift());
  const result = await run(name, args, next, screen);
  await new Promise((done) => setTimeout(done, 5));
  return { result, sent, shown };
}

test('what a decision came to is told, and Undo takes back its events and no others', async () => {
  const answer = card();
  const { result, sent, shown } = await ran('memidex.accept', [{ id: 'fact-a', root: '/r', seen: '1-x' }], [answer, card({ status: 'candidate' })], { presses: true });
  assert.equal(result, answer);
  assert.deepEqual(shown, ['memidex: MEM-001 · accepted · now active [Undo]', 'memidex: MEM-001 · taken back · now candidate']);
  assert.deepEqual(sent[1], ['memidex.retract', { id: 'fact-a', root: '/r', events: ['e1', 'e2'] }]);
});

test('a refusal is a warning; one that the person gave is not', async () => {
  assert.deepEqual((await ran('memidex.accept', [{ id: 'a' }], [{ refused: 'stale', message: 'it changed' }])).shown, ['warning: memidex: it changed']);
  assert.deepEqual((await ran('memidex.forget', [{ id: 'a' }], [{ refused: 'cancelled', message: 'cancelled' }])).shown, []);
});

test('words of a record make no link of a message', async () => {
  const { shown } = await ran('memidex.accept', [{ id: 'a' }], [{ refused: 'held', message: '[free](command:x) $(zap)' }]);
  assert.deepEqual(shown, ['warning: memidex: [free] (command:x) $ (zap)']);
});

test('a seal and an undo have no Undo, and nothing is said where the setting says so', async () => {
  assert.deepEqual((await ran('memidex.seal', [{ id: 'a' }], [card()])).shown, ['memidex: MEM-001 · sealed · now active']);
  assert.deepEqual((await ran('memidex.retract', [{ id: 'a' }], [card()])).shown, ['memidex: MEM-001 · taken back · now active']);
  assert.deepEqual((await ran('memidex.accept', [{ id: 'a' }], [card()], { notifies: false })).shown, []);
});

test('a replacement is asked for its words, and undone on the record that it replaces', async () => {
  const { sent } = await ran('memidex.supersede', [{ id: 'fact-old', seen: '1-x' }], [card({ id: 'fact-new' }), card()], { typed: ['New', 'Seen so'], presses: true });
  assert.deepEqual(sent, [['memidex.supersede', { id: 'fact-old', seen: '1-x', summary: 'New', detail: 'Seen so' }], ['memidex.retract', { id: 'fact-old' }]]);
  const { sent: none } = await ran('memidex.supersede', [{ id: 'fact-old' }], [], { typed: ['New', undefined] });
  assert.deepEqual(none, [], 'without its words nothing is sent');
  const { shown } = await ran('memidex.supersede', [{ id: 'fact-old', by: 'fact-new' }], [card()]);
  assert.ok(!shown.some((line) => line.startsWith('asked')), 'a record that is there has its words');
});

test('from the palette it is about the active editor, and says so where there is none', async () => {
  const here = 'file:///r/record.md';
  assert.deepEqual((await ran('memidex.accept', [], [card()], { here })).sent, [['memidex.accept', { uri: here }]]);
  const nowhere = await ran('memidex.accept', [], []);
  assert.deepEqual([nowhere.sent, nowhere.shown], [[], ['warning: memidex: no record is open; open one, or a file of it, first']]);
});

test('the queue tells where one is in it, and that nothing waits', async () => {
  const next = await ran('memidex.reviewNext', [], [{ uri: 'u', position: 2, total: 9, message: 'a proposal' }], { here: 'file:///x' });
  assert.deepEqual([next.sent, next.shown], [[['memidex.reviewNext', { uri: 'file:///x' }]], ['hint: memidex: 2 of 9 · a proposal']]);
  assert.deepEqual((await ran('memidex.reviewPrevious', [], [null])).shown, ['memidex: nothing waits for review']);
});

test('a comparison shows both, and other commands pass as they are', async () => {
  assert.deepEqual((await ran('memidex.compare', [{ id: 'p' }], [{ original: 'file:///o', proposal: 'file:///p' }])).shown, ['file:///o ↔ file:///p']);
  const other = await ran('memidex.gc', [{ dryRun: true }], [{ removed: [], marked: [] }]);
  assert.deepEqual([other.sent, other.shown], [[['memidex.gc', { dryRun: true }]], []]);
});
