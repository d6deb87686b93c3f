/** A share, from 0 to 1, beside the number that says the same. */
export function Bar({ share }: { readonly share: number }) {
  return (
    <svg class="bar" viewBox="0 0 100 1" preserveAspectRatio="none" aria-hidden="true">
      <rect width={share * 100} height="1" />
    </svg>
  );
}
