/**
 * Draws the show's video, fills the cart, and says where clicks are not counted. It has `shop` and `vitrine` from the
 * page.
 */
export const script = `
  const part = (id) => document.getElementById(id)
  const titles = new Map(shop.products.map(({ id, title }) => [id, title]))

  let inCart = 0
  for (const button of document.querySelectorAll("button[data-product]")) {
    const { product } = button.dataset
    button.addEventListener("click", () => {
      vitrine.push(["addToCart", product])
      part("count").textContent = String(++inCart)
      part("status").textContent = titles.get(product) + " is in the cart. Look at the dashboard!"
    })
  }

  // Refused where a proxy hides this page's address from the service. Without events, nothing is stored.
  fetch("collect/v1", { method: "POST", body: JSON.stringify({ key: shop.key, show: shop.show, events: [] }) })
    .then(({ status }) => {
      if (status !== 403) return
      part("uncounted").hidden = false
      part("uncounted").textContent = "Nothing is counted at this address, because a proxy changes the Host header. Open " +
        shop.origins.join(" or ") + ", or let the proxy pass the header on."
    })
    .catch(() => undefined) // the tracker tries again, too

  const canvas = Object.assign(document.createElement("canvas"), { width: 960, height: 540 })
  const brush = canvas.getContext("2d", { alpha: false })
  const isCalm = matchMedia("(prefers-reduced-motion: reduce)").matches
  const outlines = [...document.querySelectorAll("li svg path")].map((path) => new Path2D(path.getAttribute("d")))
  const shown = shop.products.map(({ title }) => title)

  function disc(x, y, radius, color) {
    brush.fillStyle = color
    brush.beginPath()
    brush.arc(x, y, radius, 0, 7)
    brush.fill()
  }
  function box(x, y, width, height, radius, color) {
    brush.fillStyle = color
    brush.beginPath()
    brush.roundRect(x, y, width, height, radius)
    brush.fill()
  }

  // A studio: a host who sways and speaks, and the product of the moment.
  function draw() {
    const seconds = performance.now() / 1000
    const time = isCalm ? 0 : seconds
    const wall = brush.createLinearGradient(0, 0, 960, 540)
    wall.addColorStop(0, "#3a2a8c")
    wall.addColorStop(0.6, "#7a3d8f")
    wall.addColorStop(1, "#d9735a")
    brush.fillStyle = wall
    brush.fillRect(0, 0, 960, 540)
    for (let lamp = 0; lamp < 7; lamp++) {
      const drift = Math.sin(time * 0.4 + lamp * 2)
      disc(80 + lamp * 140 + drift * 24, 110 + (lamp % 3) * 60 + drift * 12, 34 + (lamp % 2) * 22, "#ffffff12")
    }
    brush.fillStyle = "#241a52"
    brush.fillRect(0, 450, 960, 90)

    const sway = Math.sin(time * 1.3) * 10
    box(275 + sway, 235, 50, 80, 22, "#d89a78")
    box(205 + sway, 292, 190, 260, 70, "#ffb84d")
    disc(300 + sway * 1.2, 190, 70, "#e8b08e")
    brush.fillStyle = "#2b1a3d"
    brush.beginPath()
    brush.ellipse(300 + sway * 1.2, 152, 76, 50, 0, Math.PI, 0)
    brush.fill()
    const isBlinking = time % 4 > 3.85
    for (const side of [-26, 26]) box(295 + sway * 1.2 + side, 182, 10, isBlinking ? 2 : 12, 5, "#2b1a3d")
    box(286 + sway * 1.2, 220, 28, 6 + Math.abs(Math.sin(time * 5)) * 12, 8, "#8c3b4a")

    const number = Math.floor(seconds / 6) % shown.length
    const rise = isCalm ? 0 : Math.max(0, 1 - (seconds % 6) * 2) * 40
    box(520, 90 + rise, 340, 340, 28, "#fffffff0")
    brush.save()
    brush.translate(560, 100 + rise)
    brush.scale(4, 4)
    brush.fillStyle = "#5b3df5"
    brush.fill(outlines[number], "evenodd")
    brush.restore()
    brush.fillStyle = "#1b1730"
    brush.font = "600 30px system-ui, sans-serif"
    brush.textAlign = "center"
    brush.fillText(shown[number], 690, 402 + rise)
  }

  const video = document.querySelector("video")
  draw()
  setInterval(draw, isCalm ? 500 : 40)
  video.srcObject = canvas.captureStream()
  video.play().catch(() => undefined) // a browser may want a click first
`;
