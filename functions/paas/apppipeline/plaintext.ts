/** Text that strangers write, such as titles of pull requests. Pure, without imports: the dashboard uses it too. */

/** Controls and separators of lines and paragraphs. */
const breaks = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

/**
 * Characters without a shape, and those that change the direction of text. Kept: joiners, which some scripts need, and the selectors
 * and joiners of emoji.
 */
const invisible = /(?!\u200C|\u200D|\uFE0E|\uFE0F)[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}]/gu;

/** One line of at most `longest` characters, in which no text hides or moves other text. */
export function plainText(text: string, longest: number): string {
  const line = text
    // A character takes at most two units. The rest would only cost time.
    .slice(0, 8 * longest)
    .toWellFormed()
    .replace(breaks, " ")
    .replace(invisible, "")
    .trim();
  const characters = [...line];
  return characters.length <= longest ? line : `${characters.slice(0, longest - 1).join("")}…`;
}
