import icon from "../icon.svg";

export function Brand() {
  return (
    <p class="brand">
      <img src={icon} alt="" width="28" height="28" />
      Vitrine
    </p>
  );
}
