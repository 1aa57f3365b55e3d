from .chain import MarkovChain as MarkovChain
