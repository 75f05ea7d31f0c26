/** RemoteSyncs for tests, as objects and as form input. */
import type { Page } from "playwright-core";
import type { RemoteSync } from "../../functions/paas/kinds.ts";

/** The spec of a RemoteSync of acme/web for the Application of that name. */
export const specOf = (application: string, github: object = {}): RemoteSync["spec"] => ({
  applicationRef: { name: application },
  base: { github: { owner: "acme", repo: "web", secretName: "acme-web", ...github } },
  image: { name: "registry.example.com/acme/web", secretName: "regcred" },
});

/** Fills in the required fields. */
export async function fillIn(page: Page, name: string): Promise<void> {
  const texts = {
    Name: name,
    Application: name,
    "Repository owner": "acme",
    Repository: "web",
    "GitHub token Secret": "acme-web",
    "Image repository": "registry.example.com/acme/web",
    "Registry credentials Secret": "regcred",
  };
  for (const [label, text] of Object.entries(texts))
    await page.getByRole("main").getByLabel(label, { exact: true }).fill(text);
}
