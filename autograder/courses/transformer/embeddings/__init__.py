"""Tokens and positions as vectors."""

from autograder.course.declare import assignment, function, plot

PLOTS = (
    plot("positions", "embeddings.plots:positions", needs="embeddings.sinusoidal_positions",
         title="Sinusoidal positions: the table, its waves, the similarity of positions, the wavelengths",
         caption="Columns on the left vary quickly, columns on the right slowly; "
                 "similarity depends only on the distance."),
    plot("embedding-map", "embeddings:token_map", needs="embeddings.embed_tokens embeddings.embed", trained=True,
         title="Embeddings of a trained model in two dimensions",
         caption="Are the vowels close together? With positions added, each token becomes a series of points."),
    plot("embedding-norms", "embeddings:norms", needs="tokenizer.encode embeddings.embed_tokens embeddings.embed",
         trained=True, title="How much of each input vector is token and how much is position",
         caption="If one part were much longer than the other, the sum would be almost that part alone."),
)  # fmt: skip

FUNCTIONS = (
    function("one_hot", "out batch position token", "one_hot", minutes=15, difficulty=1),
    function("embed_tokens", "out batch position d_model", "embedding", minutes=10, difficulty=1),
    function("embed_tokens_backward", "dW_tok token d_model", "gradient of embedding", minutes=20, difficulty=3),
    function("sinusoidal_positions", "out position d_model", "sines and cosines in float64", minutes=30,
             difficulty=2),
    function("embed", "out batch position d_model", "embedding", minutes=10, difficulty=1,
             needs="embeddings.embed_tokens"),
)  # fmt: skip

ASSIGNMENT = assignment(
    "Tokens and positions as vectors",
    *FUNCTIONS,
    plots=PLOTS,
    outcome="Each token is now a vector that training can change, and says where in the text it stands.",
)
