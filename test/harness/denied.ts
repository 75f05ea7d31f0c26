/** Buttons and links of the dashboard for actions that the user may not do. */
import type { Page } from "playwright-core";

/** Waits until the button or link is disabled, and expects it to say which right is missing. `right` is such as `patch applications/scale`. */
export async function expectDenied(
  page: Page,
  name: string,
  {
    right,
    namespace,
    role = "button",
  }: { readonly right: string; readonly namespace: string; readonly role?: "button" | "link" },
): Promise<void> {
  const denied = page.getByRole(role, { name, exact: true, disabled: true });
  await denied.waitFor();
  // A keyboard reaches it, and learns why.
  await denied.focus();
  await page.keyboard.press("Enter");
  await page
    .getByRole("status")
    .getByText(`You cannot do this: your roles in ${namespace} do not allow you to ${right}.`)
    .first()
    .waitFor();
}
