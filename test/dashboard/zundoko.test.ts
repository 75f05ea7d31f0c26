/** Zundoko on the page, while workers run it; and the form for Installations on a dashboard without GitHub. */
import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Hikawa, Zundoko } from "../../functions/zundoko/kinds.ts";
import { wordsVariable } from "../../functions/zundoko/words.ts";
import { expectAccessible } from "../harness/accessible.ts";
import { type DashboardEnvironment, people, startDashboardEnvironment, team } from "../harness/dashboard.ts";
import { expectDenied } from "../harness/denied.ts";
import type { Replica } from "../harness/environment.ts";
import { hikawa } from "../harness/song.ts";

const words = ["Doko", "Zun", "Zun", "Doko", "Zun", "Zun", "Zun", "Zun", "Doko"];

// Each test visits several screens twice.
vi.setConfig({ testTimeout: 300_000 });

let environment: DashboardEnvironment;
let singer: Replica;
beforeAll(async () => {
  environment = await startDashboardEnvironment();
});
afterAll(() => environment?.stop());

const said = (page: Page): Promise<string[]> =>
  page.getByRole("log", { name: "Words" }).getByRole("strong").allInnerTexts();

/** Records what the browser would speak. */
async function listen(page: Page): Promise<() => Promise<string[]>> {
  await page.addInitScript(`
    window.spoken = [];
    SpeechSynthesis.prototype.speak = ({ text }) => void window.spoken.push(text);
  `);
  await page.reload();
  return () => page.evaluate("window.spoken");
}

/** Records each change of the number of words. `until` is a JavaScript condition that ends it. */
const watchCounts = (page: Page, until: string): Promise<number[]> =>
  page.evaluate(`new Promise((resolve) => {
    const log = document.querySelector('[role="log"]');
    const counts = [];
    new MutationObserver(() => {
      const count = log.querySelectorAll("li").length;
      if (counts.at(-1) !== count) counts.push(count);
      if (${until}) resolve(counts);
    }).observe(log, { childList: true, subtree: true });
  })`);

test("a Hikawa created in the browser appears there word by word, and ends with Kiyoshi", async () => {
  const page = await environment.loggedIn(people.alice);
  await page.getByLabel("Namespace", { exact: true }).fill(team);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Zundoko" }).click();
  await page.getByText("No Hikawas here yet").waitFor();
  await expectAccessible(page);
  await page.getByRole("link", { name: "Create a Hikawa" }).click();
  await page.getByLabel("Pause").fill("-1");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByText("Enter a name.", { exact: true }).waitFor();
  expect(await page.getByLabel("Pause").getAttribute("aria-invalid")).toBe("true");
  await expectAccessible(page);
  await page.getByLabel("Name", { exact: true }).fill("kiyoshi");
  await page.getByLabel("Pause").fill("300");
  await page.getByRole("button", { name: "Create" }).click();
  await page.getByRole("heading", { name: "kiyoshi", level: 1 }).waitFor();
  const spoken = await listen(page);
  await page.getByText("No words yet").waitFor();
  await page.getByLabel("Read aloud").check();

  // Start the worker only when the page is watching.
  const counts = watchCounts(page, "count === 10");
  await environment.bridge("bridge-1");
  singer = await environment.worker("singer-1", ["hikawa"], { env: { [wordsVariable]: words.join() } });
  await expect.poll(() => said(page), { timeout: 60_000 }).toEqual([...words, "Kiyoshi!"]);
  expect((await counts).length, "they do not come all at once").toBeGreaterThan(1);
  await page.getByText(`Kiyoshi! after ${words.length} words`).first().waitFor();
  await page.getByText("singer-1, 10 words").waitFor();
  await expect.poll(spoken).toEqual([...words, "Kiyoshi!"]);
  await expectAccessible(page);
});

test("words are read aloud only on request, and a deleted word disappears and comes back", async () => {
  const page = await environment.loggedIn(people.bob);
  await environment.client.create(
    Hikawa,
    { ...hikawa("quiet", 0), metadata: { name: "quiet", namespace: team } },
    { fieldManager: "test" },
  );
  await page.goto(`${environment.url}/zundoko/${team}/quiet`);
  const spoken = await listen(page);
  await expect.poll(() => said(page), { timeout: 60_000 }).toEqual([...words, "Kiyoshi!"]);
  const at = { name: "quiet-zundoko-003", namespace: team };
  // Otherwise the worker would restore it before the page shows the deletion.
  await singer.stop();
  await environment.client.delete(Zundoko, at, {});
  await expect.poll(() => said(page), { timeout: 60_000 }).toHaveLength(words.length);
  await singer.start();
  await expect.poll(() => said(page), { timeout: 60_000 }).toEqual([...words, "Kiyoshi!"]);
  expect(await spoken()).toEqual([]);
});

test("a viewer cannot delete, and an editor has to type the name first", async () => {
  const looking = await environment.loggedIn(people.bob);
  await looking.goto(`${environment.url}/zundoko/${team}/kiyoshi`);
  await expectDenied(looking, "Delete", { right: "delete hikawas", namespace: team });

  const page = await environment.loggedIn(people.alice);
  await page.getByLabel("Namespace", { exact: true }).fill(team);
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: "Zundoko" }).click();
  await page.getByRole("link", { name: "kiyoshi", exact: true }).click();
  await page.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete Hikawa kiyoshi?" });
  await dialog.getByLabel("Type kiyoshi to confirm").fill("kiyosh");
  expect(await dialog.getByRole("button", { name: "Delete" }).isDisabled()).toBe(true);
  await dialog.getByLabel("Type kiyoshi to confirm").fill("kiyoshi");
  await expectAccessible(page);
  await dialog.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("heading", { name: "Hikawa kiyoshi was deleted" }).waitFor();
  await page.getByRole("link", { name: "Back to the list" }).click();
  await page.getByRole("link", { name: "quiet" }).waitFor();
  expect(await page.getByRole("link", { name: "kiyoshi", exact: true }).count()).toBe(0);
});

test("without a GitHub App, the form for an Installation explains how to add one and cannot be submitted", async () => {
  const page = await environment.loggedIn(people.alice);
  await page.goto(`${environment.url}/github/new`);
  await page.getByText("Its operator can set DENREI_GITHUB_*").waitFor();
  expect(await page.getByRole("button", { name: "Create" }).isDisabled()).toBe(true);
  expect(await page.getByLabel("Name", { exact: true }).isDisabled()).toBe(true);
  await expectAccessible(page);
});
