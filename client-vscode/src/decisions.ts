/** What of a decision is the client's: which record is meant, the words of a replacement, what came of it and the way back. */

/** The editor, as far as it is needed here. */
export interface Screen {
  /** The file of the active editor. */
  here(): string | undefined;
  ask(title: string, prompt: string, value?: string): PromiseLike<string | undefined>;
  warn(message: string): void;
  /** Whether the button was pressed. */
  tell(message: string, button?: string): PromiseLike<boolean>;
  /** A line that goes by itself. */
  hint(message: string): void;
  compare(original: string, proposal: string): PromiseLike<unknown>;
  notifies(): boolean;
}

type Run = (name: string, args: unknown[]) => unknown;
type Values = Record<string, unknown>;

const DONE: Record<string, string> = {
  accept: 'accepted', confirm: 'confirmed', reject: 'rejected', forget: 'forgotten', contradict: 'contradicted',
  supersede: 'in place of the other', retract: 'taken back', overturn: 'overturned', seal: 'sealed',
};
const MIDDLE = ' · ';

/** Runs a command of the server; one without an argument, as from the palette, is about the active editor. */
export async function run(name: string, args: unknown[], next: Run, screen: Screen): Promise<unknown> {
  const verb = name.replace('memidex.', '');
  const review = verb === 'reviewNext' || verb === 'reviewPrevious';
  let asked = isObject(args[0]) ? args[0] : undefined;
  if (!asked && (review || verb === 'compare' || verb in DONE)) {
    const uri = screen.here();
    if (!uri && !review) return screen.warn('memidex: no record is open; open one, or a file of it, first');
    asked = uri ? { uri } : {};
  }
  if (verb === 'supersede' && asked && !asked['summary'] && !asked['by']) {
    const summary = await screen.ask('What is true now?', 'Summary of the record that replaces it');
    if (!summary) return undefined;
    const detail = await screen.ask('Detail', 'How it is known, in a sentence', summary);
    if (!detail) return undefined;
    asked = { ...asked, summary, detail };
  }
  if (verb === 'compare' && asked) asked = { ...asked, show: false }; // both are shown beside each other here
  const answer = await next(name, asked ? [asked] : args);
  if (review) {
    if (isObject(answer)) screen.hint(bare(`memidex: ${[`${answer['position']} of ${answer['total']}`, answer['message']].join(MIDDLE)}`));
    else void screen.tell('memidex: nothing waits for review');
  }
  if (!asked || !isObject(answer)) return answer;
  if (typeof answer['refused'] === 'string') {
    if (answer['refused'] !== 'cancelled') screen.warn(bare(`memidex: ${String(answer['message'] ?? answer['refused'])}`));
  } else if (verb === 'compare') {
    await screen.compare(String(answer['original']), String(answer['proposal']));
  } else if (verb in DONE && screen.notifies()) {
    void told(verb, asked, answer, next, screen); // the message stays for as long as it likes
  }
  return answer;
}

async function told(verb: string, asked: Values, card: Values, next: Run, screen: Screen): Promise<void> {
  const back = undo(verb, asked, card);
  const message = [`memidex: ${String(card['shortId'] ?? card['id'])}`, DONE[verb], `now ${String(card['status'])}`].join(MIDDLE);
  if ((await screen.tell(bare(message), back && 'Undo')) && back) await run('memidex.retract', [back], next, screen);
}

/** What takes back this decision, and none that was made after it. */
function undo(verb: string, asked: Values, card: Values): Values | undefined {
  if (verb === 'retract' || verb === 'seal') return undefined;
  const root = asked['root'] === undefined ? {} : { root: asked['root'] };
  // The card is of the record that replaces; what was decided stands with the one that is replaced.
  if (verb === 'supersede') return { ...(asked['id'] === undefined ? { uri: asked['uri'] } : { id: asked['id'] }), ...root };
  const own = (Array.isArray(card['events']) ? card['events'] : []).filter((event) => isObject(event) && event['origin'] === 'user' && event['live'] === true) as Values[];
  const events = own.filter((event) => event['at'] === own.at(-1)?.['at']).map((event) => event['id']);
  return events.length ? { id: card['id'], ...root, events } : undefined;
}

/** Words of a record make no link, command or icon of a message. */
const bare = (message: string): string => message.replaceAll('](', '] (').replaceAll('$(', '$ (');
const isObject = (value: unknown): value is Values => typeof value === 'object' && value !== null && !Array.isArray(value);
