/** Saying what has come of something. */
import { notify } from "./notices.tsx";

/** Waits for something that somebody wanted, and says that it went well, or why not. */
export async function doing(work: Promise<unknown>, done: string): Promise<"done" | "failed"> {
  try {
    await work;
    notify("good", done);
    return "done";
  } catch (error) {
    notify("bad", (error as Error).message);
    return "failed";
  }
}
