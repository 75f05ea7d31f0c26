/** A debugger: a client of Node's inspector, as an editor is. https://chromedevtools.github.io/devtools-protocol/ */
import { onTestFinished } from "vitest";
import { z } from "zod";

const Targets = z.tuple([z.object({ webSocketDebuggerUrl: z.string() })]);
const Message = z.object({
  id: z.number().optional(),
  method: z.string().optional(),
  error: z.object({ message: z.string() }).optional(),
});

/** An attached debugger. */
export interface Attached {
  /** Sets a breakpoint in every file whose path ends with `path`. */
  breakAt(path: string, line: number): Promise<void>;
  /** Resolves at the next pause. */
  paused(): Promise<void>;
  /** Disables breakpoints and resumes. */
  resume(): Promise<void>;
  /** Resolves when the process closes the connection. */
  readonly closed: Promise<void>;
}

/** Attaches to the inspector at a port. */
export async function attach(port: number): Promise<Attached> {
  const answer = await fetch(`http://127.0.0.1:${port}/json/list`);
  const [{ webSocketDebuggerUrl }] = Targets.parse(await answer.json());
  const socket = new WebSocket(webSocketDebuggerUrl);
  onTestFinished(() => socket.close());
  const closed = new Promise<void>((resolve) => socket.addEventListener("close", () => resolve()));
  const answers = new Map<number, PromiseWithResolvers<void>>();
  let pauses = 0;
  let onPause: (() => void) | undefined;
  socket.addEventListener("message", ({ data }) => {
    const { id, method, error } = Message.parse(JSON.parse(String(data)));
    if (method === "Debugger.paused") {
      pauses++;
      onPause?.();
    }
    if (id === undefined) return;
    if (error === undefined) answers.get(id)?.resolve();
    else answers.get(id)?.reject(new Error(error.message));
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });

  function ask(method: string, params: object = {}): Promise<void> {
    const id = answers.size + 1;
    const answered = Promise.withResolvers<void>();
    answers.set(id, answered);
    socket.send(JSON.stringify({ id, method, params }));
    return answered.promise;
  }

  await ask("Debugger.enable");
  return {
    closed,
    breakAt: (path, line) =>
      ask("Debugger.setBreakpointByUrl", { urlRegex: `.*/${path}$`, lineNumber: line - 1 }),
    async paused() {
      if (pauses === 0) await new Promise<void>((resolve) => (onPause = resolve));
      pauses--;
    },
    async resume() {
      await ask("Debugger.setBreakpointsActive", { active: false });
      await ask("Debugger.resume");
    },
  };
}
