/** Saying what has come of something. */
import { notify, withLead } from "./notices.tsx";

/** Waits for an action of the user and shows its outcome. */
export async function doing(work: Promise<unknown>, done: string): Promise<"done" | "failed"> {
  try {
    await work;
    notify("good", done);
    return "done";
  } catch (error) {
    notify("bad", withLead("Request failed:", (error as Error).message));
    return "failed";
  }
}
